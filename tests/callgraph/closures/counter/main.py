def make():
    count = 0
    def step():
        nonlocal count
        count += 1
        return report(count)
    return step
def report(n):
    pass
step = make()
step()
