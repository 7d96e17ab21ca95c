import { useWorkspace } from "@/app/workspace";

const INPUT_ID = "file-picker";

export function openFilePicker(): void {
  document.getElementById(INPUT_ID)?.click();
}

/** The page's one file input; every "attach" opens it. */
export function FilePicker() {
  const { addFiles } = useWorkspace();
  return (
    <input
      id={INPUT_ID}
      type="file"
      multiple
      tabIndex={-1}
      aria-label="Files to upload"
      className="sr-only"
      onChange={(event) => {
        const files = [...(event.target.files ?? [])];
        // The same file may be chosen again after it was removed.
        event.target.value = "";
        void addFiles(files);
      }}
    />
  );
}
