def f():
    pass
def g():
    pass
table = {"f": f, "g": g}
table["g"]()
