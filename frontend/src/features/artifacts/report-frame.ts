/** What a report may do in its frame: run its own inline scripts and styles, and reach nothing. */
export const REPORT_POLICY =
  "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data:; form-action 'none'; base-uri 'none'";

const POLICY_TAG = `<meta http-equiv="Content-Security-Policy" content="${REPORT_POLICY}">`;

/** The report with its policy before anything of its own. */
export function confinedReport(html: string): string {
  const doctype = /^\s*<!doctype[^>]*>/i.exec(html)?.[0] ?? "<!doctype html>";
  const rest = html.replace(/^\s*<!doctype[^>]*>/i, "");
  return `${doctype}<head><meta charset="utf-8">${POLICY_TAG}</head>${rest}`;
}

const FRAME_PATH = "/report-frame.html";

/**
 * The address of the page that shows reports with their scripts, when the server sends it with a policy of its own
 * (`sandbox`). A frame without an address of its own inherits the application's policy, under which scripts of a report stay still.
 */
export async function scriptedFrameUrl(): Promise<string | null> {
  const response = await fetch(FRAME_PATH).catch(() => null);
  const policy = response?.headers.get("content-security-policy") ?? "";
  return response?.ok && /(^|;)\s*sandbox\b/.test(policy) ? FRAME_PATH : null;
}
