import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Seen } from './seen.ts';

interface LinesProps {
  /** Name of the part, for what counts what was seen. */
  part: string;
  label: string;
  count: number;
  line: (index: number) => ComponentChildren;
  class?: string;
  seen?: Seen;
  /** Pixels of each line, where all are of one height: nothing is measured then. */
  linePx?: number;
}

/** Lines above which only those are made that are on the screen. */
const MANY = 250;
const LINE_PX = 20;

/** Tells which of the elements with `data-line` below one have been on the screen whole. */
export function useSeen(box: RefObject<HTMLElement | null>, part: string, count: number, seen: Seen | undefined): void {
  useLayoutEffect(() => seen?.expect(part, count), [part, count, seen]);
  useEffect(() => {
    const element = box.current;
    if (!element || !seen) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const shown = entries.filter(
          ({ isIntersecting, intersectionRatio }) => isIntersecting && intersectionRatio > 0.9,
        );
        if (shown.length > 0)
          seen.note(
            part,
            shown.map(({ target }) => Number((target as HTMLElement).dataset.line)),
          );
      },
      { threshold: [0.91, 1] },
    );
    const known = new WeakSet<Element>();
    const observe = () => {
      for (const line of element.querySelectorAll('[data-line]')) {
        if (known.has(line)) continue;
        known.add(line);
        observer.observe(line);
      }
    };
    observe();
    const made = new MutationObserver(observe);
    made.observe(element, { childList: true, subtree: true });
    return () => {
      made.disconnect();
      observer.disconnect();
    };
  }, [part, count, seen]);
}

/**
 * The End key goes to the last line, also where lines turn out to be of other heights on the way, or more of them come:
 * it stays there until somebody scrolls. The browser's own goes to where the end was when it was pressed.
 */
function useEnd(box: RefObject<HTMLElement | null>): () => void {
  const isAtEnd = useRef(false);
  const stay = useCallback(() => {
    const { current } = box;
    if (isAtEnd.current && current) current.scrollTop = current.scrollHeight;
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const onKey = (event: KeyboardEvent) => {
      isAtEnd.current = event.key === 'End' && !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
      if (!isAtEnd.current) return;
      event.preventDefault();
      stay();
    };
    const leave = () => {
      isAtEnd.current = false;
    };
    element.addEventListener('keydown', onKey);
    for (const name of leaving) element.addEventListener(name, leave, { passive: true });
    return () => {
      element.removeEventListener('keydown', onKey);
      for (const name of leaving) element.removeEventListener(name, leave);
    };
  }, []);
  return stay;
}

/** What scrolls a box besides its keys. */
const leaving = ['wheel', 'pointerdown', 'touchmove'] as const;

/** Lines of something that may be long. Which of them have been on the screen goes to `seen`. */
export function Lines(props: LinesProps): JSX.Element {
  const { part, count, seen } = props;
  const box = useRef<HTMLElement>(null);
  useSeen(box, part, count, seen);
  const stay = useEnd(box);
  useLayoutEffect(stay);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard.
    <section ref={box} class={`lines ${props.class ?? ''}`} aria-label={props.label} tabIndex={0}>
      {count > MANY ? <Virtual {...props} box={box} stay={stay} /> : <All {...props} />}
    </section>
  );
}

function All({ count, line }: LinesProps): JSX.Element {
  return (
    <>
      {Array.from({ length: count }, (_, index) => (
        <div key={index} class="line" data-line={index}>
          {line(index)}
        </div>
      ))}
    </>
  );
}

function Virtual({
  part,
  count,
  line,
  seen,
  box,
  stay,
  linePx,
}: LinesProps & { box: { current: HTMLElement | null }; stay: () => void }): JSX.Element {
  const [, setTurn] = useState(0);
  const virtual = useRef<Virtualizer<HTMLElement, HTMLElement> | undefined>(undefined);
  virtual.current ??= new Virtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => linePx ?? LINE_PX,
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => setTurn((turn) => turn + 1),
  });
  const { current: lines } = virtual;
  useLayoutEffect(() => {
    lines.setOptions({ ...lines.options, count });
    setTurn((turn) => turn + 1);
  }, [count]);
  useLayoutEffect(() => lines._didMount(), []);
  useLayoutEffect(() => lines._willUpdate());
  useLayoutEffect(stay);
  // Lines of one height take one another's place, however far the list jumps: nothing is made and thrown away then.
  const slots = useRef(0);
  const shown = lines.getVirtualItems();
  slots.current = Math.max(slots.current, shown.length);
  const measure = useCallback((element: HTMLElement | null) => lines.measureElement(element), []);
  const next = () => {
    const unseen = seen?.firstUnseen(part);
    if (unseen !== undefined) lines.scrollToIndex(unseen, { align: 'start' });
  };
  return (
    <>
      <div class="tall" style={{ height: `${lines.getTotalSize()}px` }}>
        {shown.map(({ index, start }) => (
          <div
            key={linePx === undefined ? index : index % slots.current}
            class={linePx === undefined ? 'line' : 'line even'}
            data-line={index}
            data-index={index}
            ref={linePx === undefined ? measure : null}
            style={{
              transform: `translateY(${start}px)`,
              ...(linePx === undefined ? {} : { height: `${linePx}px` }),
            }}
          >
            {line(index)}
          </div>
        ))}
      </div>
      {seen && seen.firstUnseen(part) !== undefined && (
        <button type="button" class="next-unseen" onClick={next}>
          Next lines that were not on the screen
        </button>
      )}
    </>
  );
}
