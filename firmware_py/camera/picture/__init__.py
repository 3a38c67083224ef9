"""What a picture holds: files, colour as distance, edges, and the board seen straight from above."""
