"""Functions with every statement and expression, for the analyses of data flow. Nothing here is ever called."""

import contextlib
import os.path as paths
from functools import wraps

import tensorflow as tf

LIMIT = 10


def straight(a, b=LIMIT, *rest, c: int, d: "str" = "d", **more) -> tf.Tensor:
    """A docstring is an expression."""
    e = a + b
    e += c
    f: float = e
    g: int
    del d, more["key"]
    assert f > 0, "positive"
    pass
    return rest, f


def positional(a, b, /, c, *, key=None, other):
    return a, b, c, key, other


def names(a, i):
    a.b = a.c.d
    a[0] = a["key"]
    a[i] = a[i].x
    a[i].x.y = a[1.5] + a[1e20] + a[1e-7] + a[2j] + a[0xFF] + a[1_000]
    a[True] = a[None] + a[b"bytes'"] + a[-1] + a[...]
    a[1:2] = a[0, 1] + a[i + 1] + a[f"{i}"]
    a["it's"] = a['with "quotes"'] + a["line\n"] + a["con" "catenated"]
    a.method(i).other[0] = a.method.other
    a[a[i]] = a[a.b]
    del a.b, a[0]
    a.count += 1
    a[i] -= a.count
    (x, y), *z = a, i
    [p, q] = x
    x = y = p = q
    return (x, y), z


def branches(a, b):
    if a:
        x = 1
    elif b:
        x = 2
        y = 3
    elif a.b and not b:
        y = x = 4
    else:
        z = 5
    if x:
        y = 6
    if a if b else x:
        return y
    else:
        pass
    return x


def loops(items, limit):
    total = count = 0
    for item in items:
        if item.skip:
            continue
        total += item.value
        for i, (j, k) in enumerate(item):
            if j > limit:
                break
            items[i] = k
        else:
            last = item
        if total > limit:
            break
    else:
        count = 1
    while count < limit:
        count += 1
        while True:
            if count == 3:
                break
            if count == 4:
                return last
            count *= 2
    else:
        total = 0
    for items.cursor in items:
        pass
    for items[0] in items:
        last = item
    return total, count, last


def endless(queue):
    while True:
        task = queue.get()
        queue.done(task)
    return task


def dead(a):
    return a
    b = a
    if b:
        c = b
    return c


def blocks(path, other):
    with open(path) as file, contextlib.suppress(OSError):
        text = file.read()
        with other.lock:
            other.text = text
    with (yield path) as (a, b):
        pass
    with tf.GradientTape() as other.tape:
        loss = other.loss()
    return text, a, loss


def caught(path):
    try:
        file = open(path)
        text = file.read()
    except FileNotFoundError as error:
        print(error, error.filename)
        text = None
    except (OSError, ValueError):
        raise
    except Exception as error:
        raise RuntimeError("unreadable") from error
    else:
        size = len(text)
    finally:
        print("done")
    return text, size, error


def raised(a, b):
    try:
        if a:
            raise ValueError(a)
        x = 1
        try:
            raise KeyError(b)
        except IndexError:
            y = 1
        except KeyError:
            y = x
        else:
            y = 3
    except ValueError:
        x = 2
    except TypeError:
        return x
    return x, y


def finals(items, a):
    for item in items:
        try:
            if item:
                continue
            if a:
                break
            return item
        finally:
            a = item
    while a:
        try:
            try:
                a = next(items)
                if a.b:
                    return a
            finally:
                a.close()
            if a.c:
                break
        except StopIteration:
            continue
        finally:
            items.close()
    try:
        return a
    finally:
        print(a)


def final_after_jump(a):
    try:
        return a
    finally:
        b = 1
    return b


def shared_ends(a):
    try:
        try:
            if a:
                return 1
        finally:
            b = 1
    except ValueError:
        c = 2
    else:
        c = 3
    return b, c


def nested_tries(items):
    try:
        first = items[0]
    except IndexError:
        try:
            first = items.first
        except AttributeError:
            first = None
        finally:
            items = []
    except TypeError:
        with items.lock:
            first = items.value
    return first


def tries_that_begin_with_blocks(items):
    try:
        for item in items:
            print(item)
    except ValueError:
        while items:
            items.pop()
    try:
        if items:
            item = 0
    finally:
        try:
            with items:
                pass
        finally:
            item = 1
    return item


def closures(a, b):
    c = 1

    def inner(d, e=a, *, f: tf.Tensor = b):
        nonlocal c
        c += d

        def innermost():
            return a.b + c

        return innermost

    if a:
        b = 2

        def inner(g):
            global LIMIT
            LIMIT = g
            return b

    else:
        b = 3
    result = inner(b)
    while result:

        def again():
            return result, again

        result = again()
    return result


def functions_behind_branches(a):
    if a:
        b = 1
    else:
        b = 2

    def after():
        c = b
        return c

    if b:
        c = after

    def later():
        return c

    for i in range(a):
        later()
    return later


@wraps(closures)
@tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
def decorated(a):
    @tf.function
    def staged(b: "annotation", c: tf.Tensor = a) -> tf.Tensor:
        return b + c

    @staged.register
    class Local(a.Base, metaclass=a.Meta):
        kind = a
        other: int = 1

        def __init__(self, value):
            super().__init__()
            self.value = value
            self.value.deep = value
            value.self = self
            for self.item in value:
                pass

        @property
        def read(self):
            self.count = 1
            if self.value:
                return self.value
            return Local.kind

        class Deeper:
            depth = 2

            def __init__(self):
                self.depth += 1
                [self.x for self.x in range(2)]

    return Local(staged(a))


class Model(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units)

    def call(self, inputs, training=False):
        x = self.dense(inputs)
        if training:
            x = tf.nn.dropout(x, 0.5)
        return x

    @tf.function
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.loss(y, self(x, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {m.name: m.result() for m in self.metrics}


def comprehensions(a, b):
    c = [x + b for x in a if x.ok]
    d = {x: y for x, y in a.items() if x in b for y in y.z}
    e = {x[0] for x in a}
    f = (x.y[b] for x in (y for y in a))
    g = [[x * y for x in y] for y in b]
    h = [x for x in map(lambda x, z=b: x + z + a, c)]
    i = [(last := x) for x in a if (low := x.low)]
    return sum(x for x in a), c, d, e, f, g, h, i, last, low


def lambdas(a, b=lambda x: x):
    c = lambda x, y=a: x + y + a
    d = sorted(a, key=lambda item: (item.x, lambda: b))
    if any(map(lambda x: x > c, d)):
        e = lambda: e
    for x in filter(lambda y: y, d):
        print(x, e)
    while list(map(lambda z: z + x, d)):
        d.pop()
    with a(lambda: d) as f:
        return lambda *p, q: (p, q, f)


def expressions(a, b):
    x = a if b else a.c
    y = not a or -b and ~a
    z = a < b <= a.c != 0 in b is not None
    f"{a.b!r:>{b}} {x:.2f} {{}}" f"{y}"
    print(*a, *b.c, key=z, **a.options)
    {**a, "key": b, a.key: b.value}
    {a, *b}, [a, *b], (a, *b)
    if (n := len(a)) > 10:
        print(n)
    a[n:] = a[:n] = a[::2, ..., n]
    a.b(c=(m := 1))
    return m @ a ** b // x


def scopes(a):
    global LIMIT, COUNT
    import os, os.path
    import os.path as folder
    from os import *
    from os.path import join as glue, split
    LIMIT += 1
    COUNT = a
    print(os, folder, glue, split, LIMIT)


def generator(a):
    received = yield a
    yield from received
    try:
        yield
    finally:
        del received


async def asynchronous(a):
    def inside(b):
        return b

    await a
    return inside(a)


def long_head(
    a,
    b,
):
    if (
        a
        and b
    ):
        return [
            a
        ]
    for x in (
        a
    ):
        print(
            lambda:
                x
        )
    while (
        (a)
        + b
    ): a = 1; b = 2
    return (
        a
    )


def functional(a):
    if a.flag: return 1
    if a.b: pass
    elif a.c: return 2
    try: x = 1
    except: x = 2
    for i in a: x += i
    return x


def refused_match(a):
    match a:
        case 1:
            return 1


def refused_class(a):
    class Local:
        """A docstring."""

    return Local


def refused_class_with_branch(a):
    class Local:
        if a:
            b = 1

    return Local


def refused_lambda(a):
    @a(lambda: 0)
    def inner():
        return 1

    return inner


def refused_lambda_in_lambda(a):
    return lambda: lambda: a


def refused_else(a):
    try:
        b = 1
    except ValueError:
        b = 2
    else:
        if a:
            b = 3
    return b


def refused_key(a):
    return a["."]


def refused_asynchronous(a):
    async def inner(b):
        async with b as c:
            async for d in c:
                print(d)
        return b

    return inner
