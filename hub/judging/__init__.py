"""What a shot was worth: evidence of beam, camera and hands, every reading that it allows, and what is asked."""
