"""Small stand-ins for the data sets that Keras downloads: the right shapes and types, the same on each rank."""

import importlib
import sys

import numpy as np

TRAIN, TEST = 256, 64


def install():
    """Lets `load_data` of the Keras data sets give the stand-ins."""
    loaders = {
        "mnist": lambda *_, **__: images((28, 28), 10, np.uint8),
        "fashion_mnist": lambda *_, **__: images((28, 28), 10, np.uint8),
        "cifar10": lambda *_, **__: images((32, 32, 3), 10, np.uint8, column=True),
        "cifar100": lambda label_mode="fine": images((32, 32, 3), 100 if label_mode == "fine" else 20, np.int64, column=True),
        "imdb": lambda *_, num_words=None, **__: words(num_words or 1000, 2),
        "reuters": lambda *_, num_words=None, **__: words(num_words or 1000, 46),
        "boston_housing": lambda *_, **__: houses(),
    }
    for name, loader in loaders.items():
        importlib.import_module(f"keras.src.datasets.{name}").load_data = loader
        for module in list(sys.modules):  # the public modules that are imported already have it by name
            if module.endswith(f"keras.datasets.{name}"):
                sys.modules[module].load_data = loader


def images(shape, classes, label_type, column=False):
    random = np.random.RandomState(1)

    def part(count):
        labels = random.randint(0, classes, count)
        # A class is a brightness: there is something to learn.
        pixels = random.randint(0, 128, (count, *shape)) + (labels * 127 // classes).reshape(-1, *[1] * len(shape))
        return pixels.astype(np.uint8), (labels.reshape(-1, 1) if column else labels).astype(label_type)

    return part(TRAIN), part(TEST)


def words(vocabulary, classes):
    random = np.random.RandomState(2)

    def part(count):
        texts = np.empty(count, object)
        for index in range(count):
            texts[index] = random.randint(1, vocabulary, random.randint(10, 60)).tolist()
        return texts, random.randint(0, classes, count).astype(np.int64)

    return part(TRAIN), part(TEST)


def houses():
    random = np.random.RandomState(3)

    def part(count):
        features = random.uniform(0, 10, (count, 13))
        return features, features.mean(axis=1) * 5 + random.normal(size=count)

    return part(TRAIN), part(TEST)
