"""What the camera saw of a doubt: kept in memory for some seconds, sent to the pages when people have to decide."""
