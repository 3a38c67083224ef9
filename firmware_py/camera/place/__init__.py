"""The board over the evening: found with discs lying, bumped, carried, exchanged, known again."""
