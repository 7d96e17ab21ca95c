const MAX_HASHED_BYTES = 64 * 1024 * 1024;

/** SHA-256 in hexadecimal, or null where it cannot be computed: a large file, or a page that is not on https or localhost. */
export async function sha256Of(file: Blob): Promise<string | null> {
  const subtle = (crypto as Partial<Crypto>).subtle;
  if (!subtle || file.size > MAX_HASHED_BYTES) return null;
  const digest = await subtle.digest("SHA-256", await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
