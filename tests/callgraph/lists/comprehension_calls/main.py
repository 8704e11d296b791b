def f(x):
    return x
def run():
    return [f(x) for x in range(2)]
run()
