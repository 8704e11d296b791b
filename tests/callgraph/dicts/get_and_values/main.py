def f():
    pass
def g():
    pass
table = {"f": f}
table.get("f")()
table.get("x", g)()
for task in table.values():
    task()
