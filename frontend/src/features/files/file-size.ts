const UNITS = ["B", "KB", "MB", "GB", "TB"] as const;

/** `1.2 MB`: decimal units, as file managers show them. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.5 ? 0 : 1;
  return `${value.toFixed(digits).replace(/\.0$/, "")} ${UNITS[unit] ?? "B"}`;
}
