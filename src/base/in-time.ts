/** Whether something settled within so many milliseconds. */
export async function inTime(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(resolve, ms, false);
  const settled = work.then(
    () => true,
    () => true,
  );
  const isSettled = await Promise.race([settled, late]);
  clearTimeout(timer);
  return isSettled;
}
