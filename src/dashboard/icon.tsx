import { h } from 'preact'
import * as icons from './icons.ts'

export type IconName = keyof typeof icons

/** An icon next to a text with the same meaning: 16 px, 14 inside buttons, 12 inside tags. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  // biome-ignore lint/performance/noDynamicNamespaceImportAccess: the page uses every icon of the module.
  const shapes = icons[name]
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      stroke-width={36 / size}
      aria-hidden="true"
    >
      {shapes.map(([tag, attributes]) => h(tag, { ...attributes }))}
    </svg>
  )
}
