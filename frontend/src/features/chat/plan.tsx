import { Circle, CircleCheck, CircleDot } from "lucide-react";
import { cn } from "@/components/ui/class-names";
import type { PlanItem } from "./steps";

const MARKS = {
  completed: { Icon: CircleCheck, word: "done", tone: "text-good" },
  in_progress: { Icon: CircleDot, word: "now", tone: "text-accent-ink" },
  pending: { Icon: Circle, word: "to do", tone: "text-ink-3" },
} as const;

export function Plan({ items }: { items: readonly PlanItem[] }) {
  return (
    <ul aria-label="Plan" className="my-2 flex flex-col gap-1 rounded-md border px-3 py-2 text-sm">
      {items.map((item, index) => {
        const { Icon, word, tone } = MARKS[item.status];
        return (
          <li key={`${index}:${item.content}`} className="flex items-start gap-2">
            <Icon aria-label={word} className={cn("mt-[3px] size-3.5 shrink-0", tone)} />
            <span className={item.status === "completed" ? "text-ink-3" : "text-ink"}>{item.content}</span>
          </li>
        );
      })}
    </ul>
  );
}
