def f(items):
    print(len(items))
    return sum(items)
f([1])
