from functools import partial
def train(model, task=None):
    task()
def a():
    pass
def run(step):
    step(1)
run(partial(train, task=a))
