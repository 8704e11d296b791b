import sys
def f():
    pass
def g():
    pass
table = {"f": f, "g": g}
for name in ("f", "g"):
    table[name]()
