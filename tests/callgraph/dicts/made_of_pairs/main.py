def a():
    pass
def b():
    pass
def c():
    pass
def d(key):
    return key, a
class Pairs:
    def __init__(self, value):
        self.value = value
    def __iter__(self):
        yield "own", self.value
def told_apart():
    table = dict([("a", a), ("b", b)])
    table["b"]()
def zipped():
    dict(zip(["c"], [c]))["c"]()
def mapped():
    for value in dict(map(d, ["x"])).values():
        value()
def yielded():
    dict((name, b) for name in "xy")["x"]()
def updated():
    table = {}
    table.update([("c", c)])
    table["c"]()
def iterated():
    dict(Pairs(a))["own"]()
told_apart()
zipped()
mapped()
yielded()
updated()
iterated()
