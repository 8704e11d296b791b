import functools
def train(model, task):
    model()
    task()
def a():
    pass
def b():
    pass
functools.partial(train, a)(b)
