class A:
    def __call__(self, task):
        task()
def f():
    pass
A()(f)
