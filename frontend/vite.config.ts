import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const API_TARGET = process.env.API_TARGET ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: {
    port: 15173,
    strictPort: true,
    // The original Host goes through: the API accepts cookies from the page's own origin only.
    proxy: { "/api": { target: API_TARGET, changeOrigin: false } },
  },
  build: { target: "es2022", sourcemap: false, chunkSizeWarningLimit: 1200 },
  test: { include: ["src/**/*.test.{ts,tsx}"], setupFiles: ["src/test-setup.ts"], restoreMocks: true },
});
