import { useCallback, useEffect, useRef, useState } from "react";

const NEAR_PX = 48;

interface StickToBottom {
  setViewport: (element: HTMLElement | null) => void;
  setContent: (element: HTMLElement | null) => void;
  isAway: boolean;
  scrollToEnd: () => void;
}

/** Keeps the end in view while content grows, unless the person has scrolled away from it. */
export function useStickToBottom(): StickToBottom {
  const [viewport, setViewport] = useState<HTMLElement | null>(null);
  const [content, setContent] = useState<HTMLElement | null>(null);
  const [isAway, setIsAway] = useState(false);
  const sticks = useRef(true);

  const scrollToEnd = useCallback(() => {
    sticks.current = true;
    setIsAway(false);
    viewport?.scrollTo({ top: viewport.scrollHeight });
  }, [viewport]);

  useEffect(() => {
    if (!viewport || !content) return;
    let lastTop = viewport.scrollTop;
    const onScroll = () => {
      const distance = viewport.scrollHeight - viewport.scrollTop - viewport.clientHeight;
      const wentUp = viewport.scrollTop < lastTop - 2;
      lastTop = viewport.scrollTop;
      if (distance < NEAR_PX) sticks.current = true;
      else if (wentUp) sticks.current = false;
      setIsAway(distance >= NEAR_PX && !sticks.current);
    };
    const onGrowth = new ResizeObserver(() => {
      if (sticks.current) viewport.scrollTop = viewport.scrollHeight;
    });
    viewport.addEventListener("scroll", onScroll, { passive: true });
    onGrowth.observe(content);
    onGrowth.observe(viewport);
    return () => {
      viewport.removeEventListener("scroll", onScroll);
      onGrowth.disconnect();
    };
  }, [viewport, content]);

  return { setViewport, setContent, isAway, scrollToEnd };
}
