"""What generated code needs to pass the gate and still do what it likes inside its process."""

LOAD = """
import functools
found = []
class Keeper:
    def __setattr__(self, name, value):
        found.append(value)
def own(): pass
def copied(thing, name):
    found.clear()
    functools.update_wrapper(Keeper(), thing, (name,), ())
    return found[0]
own_builtins = copied(own, "__globals__")["__builtins__"]
take, put, load = (copied(own_builtins, name) for name in ("getattr", "setattr", "__import__"))
"""
"""Defines `load`, which imports anything that is there: the gate reads names, and these are not written out."""

ATTEMPTS = """
def attempts():
    os, socket, ctypes, signal = load("os"), load("socket"), load("ctypes"), load("signal")
    files = take(load("io"), "open")
    return {
        "read a file": lambda: files(PATH).read(),
        "read its own environment": lambda: files("/proc/self/environ").read(),
        "read the worker's memory": lambda: files(f"/proc/{os.getppid()}/mem", "rb").read(1),
        "write a file": lambda: files(PATH + ".written", "w"),
        "list a directory": lambda: os.listdir("/"),
        "look at a file": lambda: os.stat(PATH),
        "remove a file": lambda: os.unlink(PATH),
        "change a file's rights": lambda: os.chmod(PATH, 0o777),
        "link a file": lambda: os.symlink(PATH, PATH + ".link"),
        "change the directory": lambda: os.chdir("/"),
        "fork": os.fork,
        "run a program": lambda: os.execv("/bin/true", ["true"]),
        "spawn a program": lambda: os.posix_spawn("/bin/true", ["true"], {}),
        "signal the worker": lambda: os.kill(os.getppid(), 0),
        "signal all processes": lambda: os.kill(-1, 0),
        "open a socket": lambda: socket.socket(),
        "open a local socket": lambda: socket.socket(socket.AF_UNIX),
        "make a pair of sockets": lambda: socket.socketpair(),
        "make a pipe": os.pipe,
        "make memory without a name": lambda: os.memfd_create("x"),
        "memory that can be executed": lambda: load("mmap").mmap(-1, 4096, prot=7),
        "set a timer": lambda: signal.setitimer(signal.ITIMER_REAL, 100.0),
        "raise its limits": lambda: load("resource").setrlimit(load("resource").RLIMIT_DATA, (1 << 40, 1 << 40)),
        "begin a thread": lambda: load("_thread").start_new_thread(own, ()),
        "become a session leader": os.setsid,
        "change its user": lambda: os.setuid(12345),
        "trace the worker": lambda: traced(ctypes, os),
        "write into the questions": lambda: overwritten(ctypes, load("gc"), load("mmap")),
    }

def traced(ctypes, os):
    if ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) != 0:
        raise PermissionError

def overwritten(ctypes, gc, mmap):
    (box,) = [one for one in gc.get_objects() if isinstance(one, mmap.mmap) and len(one) > 1 << 30]
    address = ctypes.c_void_p(take(np.frombuffer(box, dtype=np.uint8), "ctypes").data)
    if ctypes.CDLL(None).mprotect(address, 4096, 3) != 0:
        raise PermissionError

def succeeded(attempt):
    try:
        attempt()
    except (OSError, RuntimeError, ValueError):
        return False
    return True
"""
"""Defines `attempts()`, all that it must not do by name, and `succeeded(attempt)`. PATH is to be filled in."""
