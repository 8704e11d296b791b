class A:
    def __iter__(self):
        return iter([f])
def f():
    pass
[task() for task in A()]
