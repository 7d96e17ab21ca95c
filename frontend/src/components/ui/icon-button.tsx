import { Button, type ButtonProps } from "./button";
import { Tooltip } from "./tooltip";

interface IconButtonProps extends Omit<ButtonProps, "aria-label" | "title"> {
  label: string;
  shortcut?: string;
  side?: "top" | "bottom" | "left" | "right";
}

export function IconButton({ label, shortcut, side, variant = "ghost", size = "icon", ...props }: IconButtonProps) {
  return (
    <Tooltip text={label} shortcut={shortcut} side={side}>
      <Button aria-label={label} variant={variant} size={size} {...props} />
    </Tooltip>
  );
}
