import { ArrowUp, Paperclip, Square } from "lucide-react";
import { useEffect, useRef, type ClipboardEvent, type KeyboardEvent } from "react";
import { useWorkspace } from "@/app/workspace";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { IconButton } from "@/components/ui/icon-button";
import { Tooltip } from "@/components/ui/tooltip";
import { useMeta } from "@/features/auth/session";
import { UploadChips } from "@/features/files/upload-chips";
import { useUploads } from "@/features/files/use-uploads";
import { setDraft, useDraft } from "./drafts";
import { openFilePicker } from "@/features/files/file-picker";

interface ComposerProps {
  isRunning: boolean;
  isStopping: boolean;
  placeholder: string;
  onSend: (text: string) => void;
  onStop: () => void;
}

export function Composer({ isRunning, isStopping, placeholder, onSend, onStop }: ComposerProps) {
  const { threadId, addFiles } = useWorkspace();
  const uploads = useUploads(threadId);
  const meta = useMeta();
  const draftKey = threadId ?? "new";
  const text = useDraft(draftKey);
  const input = useRef<HTMLTextAreaElement>(null);
  const maxChars = meta.data?.limits.message_max_chars ?? Infinity;
  const isUploading = uploads.some(({ status }) => ["waiting", "sending", "checking"].includes(status));
  const isTooLong = text.length > maxChars;
  const canSend = text.trim().length > 0 && !isRunning && !isUploading && !isTooLong;

  useEffect(() => {
    const element = input.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);

  useEffect(() => {
    // On a touch screen the keyboard would cover what one came to read.
    if (window.matchMedia("(pointer: fine)").matches) input.current?.focus();
  }, [draftKey]);

  function send() {
    if (!canSend) return;
    onSend(text.trim());
    setDraft(draftKey, "");
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  }

  function onPaste(event: ClipboardEvent) {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    void addFiles(files);
  }

  return (
    <div className="rounded-xl border border-line-strong bg-raised transition-colors focus-within:border-accent focus-within:ring-3 focus-within:ring-accent/15">
      <UploadChips uploads={uploads} />
      <textarea
        ref={input}
        rows={1}
        aria-label="Message"
        aria-invalid={isTooLong}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setDraft(draftKey, event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
        className="block max-h-52 min-h-11 w-full resize-none bg-transparent px-3.5 pt-3 pb-1 text-base text-ink outline-none placeholder:text-ink-3"
      />
      <div className="flex items-center gap-1 px-2 pb-2">
        <IconButton label="Attach files" side="top" onClick={openFilePicker}>
          <Paperclip aria-hidden />
        </IconButton>
        <span role="status" className={cn("min-w-0 flex-1 truncate text-xs", isTooLong ? "text-bad" : "text-ink-3")}>
          {isTooLong && `${text.length.toLocaleString()} of at most ${maxChars.toLocaleString()} characters`}
          {!isTooLong && isUploading && "Uploading… you can send when it is done."}
        </span>
        {isRunning ? (
          <Tooltip text="Stop" shortcut="Esc" side="top">
            <Button
              aria-label="Stop"
              variant="secondary"
              size="icon"
              disabled={isStopping}
              onClick={onStop}
              className="rounded-full"
            >
              <Square aria-hidden className="!size-3 fill-current" />
            </Button>
          </Tooltip>
        ) : (
          <Tooltip text="Send" shortcut="Enter" side="top">
            <Button
              aria-label="Send"
              variant="primary"
              size="icon"
              disabled={!canSend}
              onClick={send}
              className="rounded-full"
            >
              <ArrowUp aria-hidden />
            </Button>
          </Tooltip>
        )}
      </div>
    </div>
  );
}
