class A:
    def __init__(self):
        pass
class B:
    def __init__(self):
        pass
def build(name):
    return {"a": A, "b": B}[name]()
build("a")
build("b")
