class A(Exception):
    def show(self):
        pass
class B(Exception):
    def show(self):
        pass
def f(x):
    if x:
        raise A()
    raise B()
for x in (0, 1):
    try:
        f(x)
    except (A, B) as error:
        error.show()
