"""What the sentences of the shipped suites ask for, as scripts: suite, case -> script."""
