import { afterEach, describe, expect, it, vi } from "vitest";
import { confinedReport, REPORT_POLICY, scriptedFrameUrl } from "./report-frame";

afterEach(() => vi.unstubAllGlobals());

function serverSends(policy: string | null, status = 200): void {
  const headers: HeadersInit = policy === null ? {} : { "Content-Security-Policy": policy };
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(null, { status, headers })));
}

describe("confinedReport", () => {
  it("puts the policy before anything of the report's own", () => {
    const report = confinedReport("<!DOCTYPE html><html><script>go()</script></html>");
    expect(report).toMatch(/^<!DOCTYPE html><head>/);
    expect(report.indexOf(REPORT_POLICY)).toBeLessThan(report.indexOf("go()"));
  });

  it("lets a report reach nothing", () => {
    expect(REPORT_POLICY).toContain("default-src 'none'");
    expect(REPORT_POLICY).not.toMatch(/https?:|connect-src/);
  });
});

describe("scriptedFrameUrl", () => {
  it("uses the frame page only when the server confines it", async () => {
    serverSends("sandbox allow-scripts; default-src 'none'");
    expect(await scriptedFrameUrl()).toBe("/report-frame.html");
    serverSends("default-src 'self'");
    expect(await scriptedFrameUrl()).toBeNull();
    serverSends(null);
    expect(await scriptedFrameUrl()).toBeNull();
    serverSends("sandbox", 404);
    expect(await scriptedFrameUrl()).toBeNull();
  });
});
