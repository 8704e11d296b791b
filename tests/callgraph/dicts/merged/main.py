def f():
    pass
def g():
    pass
one = {"f": f}
two = {**one, "g": g}
two["f"]()
