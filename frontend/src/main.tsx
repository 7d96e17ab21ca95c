import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Toaster } from "sonner";
import { ApiError } from "@/api/problem";
import { TooltipProvider } from "@/components/ui/tooltip";
import { App } from "@/app/app";
import "./styles.css";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});

const root = document.getElementById("root");
if (!root) throw new Error("The page has no #root");

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <TooltipProvider delayDuration={350}>
        <App />
        <Toaster
          position="top-center"
          offset={56}
          mobileOffset={{ top: 56 }}
          toastOptions={{
            classNames: {
              toast: "!bg-raised !text-ink !border-line-strong !rounded-md !shadow-sm !text-sm",
              description: "!text-ink-2",
              actionButton: "!bg-accent !text-on-accent",
            },
          }}
        />
      </TooltipProvider>
    </QueryClientProvider>
  </StrictMode>,
);
