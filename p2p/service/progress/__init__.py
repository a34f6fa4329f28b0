"""What has been reached, read from directories alone."""
