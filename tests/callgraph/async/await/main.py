import asyncio
async def f():
    return g
def g():
    pass
async def main():
    task = await f()
    task()
asyncio.run(main())
