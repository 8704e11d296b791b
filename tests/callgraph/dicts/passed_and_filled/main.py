def f():
    pass
def fill(table):
    table["f"] = f
table = {}
fill(table)
table["f"]()
