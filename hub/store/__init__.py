"""The journal and the archive behind it; the only place that speaks SQL."""
