// jsdom has no media queries: nothing matches there.
if (typeof window !== "undefined" && typeof (window as Partial<Window>).matchMedia !== "function") {
  Object.defineProperty(window, "matchMedia", {
    value: (media: string): Partial<MediaQueryList> => ({
      media,
      matches: false,
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
    }),
  });
}
