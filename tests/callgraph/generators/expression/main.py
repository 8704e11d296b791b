def f(x):
    return x
def run():
    return sum(f(x) for x in range(2))
run()
