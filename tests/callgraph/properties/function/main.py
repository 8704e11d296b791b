class A:
    def get(self):
        return f
    value = property(get)
def f():
    pass
A().value()
