def f():
    pass
def g():
    pass
table = {"k": f}
table["k"] = g
table["k"]()
