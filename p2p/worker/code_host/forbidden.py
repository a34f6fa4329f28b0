"""Forbidden names in generated code, with reasons."""

_FILES = "No files can be read or written: all inputs come as arguments."
_TEXT_AS_CODE = "Write the computation itself."
_NO_SCOPES = "Use variables, or a dict of your own."
_NOBODY = "There is no input to read."

BUILTINS = {
    "open": _FILES,
    "eval": _TEXT_AS_CODE,
    "exec": _TEXT_AS_CODE,
    "compile": _TEXT_AS_CODE,
    "__import__": "Use an import statement.",
    "globals": _NO_SCOPES,
    "locals": _NO_SCOPES,
    "vars": _NO_SCOPES,
    "input": _NOBODY,
    "breakpoint": _NOBODY,
    "help": _NOBODY,
    "exit": "Return a value.",
    "quit": "Return a value.",
    "memoryview": "Use numpy arrays.",
}
"""Name -> what to do instead."""
BY_NAME = ("getattr", "setattr", "delattr", "hasattr")
"""Functions whose second argument is the name of an attribute."""
ATTRIBUTES = frozenset(
    {
        *("gi_frame", "gi_code", "cr_frame", "ag_frame", "tb_frame", "tb_next"),
        *("f_back", "f_globals", "f_locals", "f_builtins", "f_code", "func_globals", "co_code"),
        *("ctypes", "tofile", "__array_interface__", "__array_struct__", "as_strided", "get_type_hints", "ForwardRef"),
    }
)
"""They lead out of the code, whatever they are of."""
METHODS = frozenset({"__del__", "__getattribute__", "__init_subclass__", "__prepare__", "__reduce__", "__reduce_ex__"})
"""Python calls them when it likes."""
_ORDINARY = frozenset(
    {
        *("__init__", "__call__", "__name__", "__doc__", "__class__", "__post_init__", "__len__", "__getitem__"),
        *("__setitem__", "__contains__", "__iter__", "__next__", "__repr__", "__str__", "__eq__", "__hash__"),
        *("__enter__", "__exit__", "__slots__", "__version__", "__annotations__", "__qualname__", "__future__"),
        *("__add__", "__sub__", "__mul__", "__abs__", "__float__", "__wrapped__", "__file__"),
    }
)
_NUMPY = {
    **dict.fromkeys(
        ("load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "DataSource"), "reads from a file"
    ),
    **dict.fromkeys(("save", "savez", "savez_compressed", "savetxt"), "writes to a file"),
    **dict.fromkeys(
        ("ctypeslib", "f2py", "distutils", "testing", "_core", "core", "rec", "char"), "is not for computation"
    ),
    **dict.fromkeys(("show_config", "show_runtime", "info", "test", "lookfor"), "is for people"),
    **dict.fromkeys(("setbufsize", "seterrcall", "set_printoptions"), "changes numpy for all"),
}


def is_hidden(name: str) -> bool:
    """Whether Python reserves a name for itself."""
    return name.startswith("__") and name.endswith("__") and name not in _ORDINARY


def of_numpy(path: str) -> str | None:
    """Reason why a numpy name is forbidden; None if it is allowed."""
    first, *rest = path.split(".")
    return next((_NUMPY[name] for name in rest if name in _NUMPY), None) if first == "numpy" else None
