"""How the spoken clips of the wall are made: ``python -m dashboard.clips``.

All clips are equally loud, since one quiet or loud clip among many is what listeners complain of most. Making them
needs espeak-ng, sox and ffmpeg; the clips themselves are committed, so nobody else does.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from dashboard.wall import SOUNDS

LOUDNESS_DB = -20.0

WORDS = {
    "twenty": "Twenty!",
    "twenty_light": "Twenty, light!",
    "twenty_dark": "Twenty, dark!",
    "twenty_third": "Twenty, red!",
    "twenty_withdrawn": "No twenty.",
    "foul": "Foul.",
    "foul_light": "Foul, light.",
    "foul_dark": "Foul, dark.",
    "question": "Please decide.",
    "round": "Round over.",
    "round_light": "Round to light.",
    "round_dark": "Round to dark.",
    "round_third": "Round to red.",
    "round_tied": "Round tied.",
    "game": "Game!",
    "game_light": "Game, light!",
    "game_dark": "Game, dark!",
    "match": "Game and match!",
    "match_light": "Match, light!",
    "match_dark": "Match, dark!",
    "sound_on": "Sound on.",
}
_CHIMED = ("twenty", "game", "match")


def main() -> int:
    """Speak every clip anew; 3 if a program is missing."""
    for program in ("espeak-ng", "sox", "ffmpeg"):
        if shutil.which(program) is None:
            print(f"needs {program}: apt install espeak-ng sox ffmpeg", file=sys.stderr)
            return 3
    SOUNDS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, words in WORDS.items():
            _speak(Path(folder), name, words)
    return 0


def _speak(folder: Path, name: str, words: str) -> None:
    raw, trimmed, whole = folder / "raw.wav", folder / "trimmed.wav", folder / "whole.wav"
    _run("espeak-ng", "-v", "en-gb-x-rp", "-s", "145", "-p", "42", "-w", str(raw), words)
    silence = ("silence", "1", "0.01", "0.5%", "reverse") * 2
    _run(
        "sox", str(raw), "-r", "44100", "-c", "1", str(trimmed), *silence, "compand", "0.005,0.1", "-30,-12,0,-6", "-9"
    )
    if name.split("_", maxsplit=1)[0] in _CHIMED and name != "twenty_withdrawn":
        chime = folder / "chime.wav"
        notes = ("synth", "0.45", "sine", "1046.5", "sine", "1568", "remix", "-", "fade", "q", "0.005", "0.45", "0.4")
        _run("sox", "-n", "-r", "44100", "-c", "1", str(chime), *notes, "gain", "-14")
        _run("sox", str(chime), str(trimmed), str(whole), "pad", "0", "0.05")
    else:
        _run("sox", str(trimmed), str(whole), "pad", "0", "0.05")
    gain_db = LOUDNESS_DB - loudness_db(whole)
    _run("ffmpeg", "-v", "error", "-y", "-i", str(whole), "-af", f"volume={gain_db:.2f}dB,alimiter=limit=0.95",
         "-codec:a", "libmp3lame", "-b:a", "64k", str(SOUNDS / f"{name}.mp3"))  # fmt: skip


def loudness_db(sound: Path) -> float:
    """Root mean square of a sound in dB below full scale."""
    told = subprocess.run(["sox", str(sound), "-n", "stats"], check=True, capture_output=True, text=True).stderr
    return next(float(line.split()[-1]) for line in told.splitlines() if line.startswith("RMS lev dB"))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
