"""What the servers over HTTP have in common: who may send a request, how long it may be, where they listen."""
