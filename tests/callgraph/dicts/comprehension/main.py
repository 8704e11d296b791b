def f():
    pass
table = {name: f for name in ("a", "b")}
table["a"]()
