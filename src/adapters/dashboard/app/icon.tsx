import {
  ArrowLeft,
  Ban,
  BookMarked,
  CalendarClock,
  Check,
  ChevronDown,
  CircleCheck,
  Clock,
  Clock3,
  Copy,
  Database,
  Download,
  Ellipsis,
  Flag,
  Gauge,
  Inbox,
  Info,
  KeyRound,
  Layers,
  ListTree,
  Minus,
  Moon,
  OctagonX,
  Pause,
  Play,
  Plug,
  Plus,
  RotateCw,
  Search,
  Settings,
  StepForward,
  Sun,
  Text,
  Trash2,
  TriangleAlert,
  Unplug,
  Webhook,
  X,
  Zap,
} from 'lucide'
import { h } from 'preact'

const icons = {
  back: ArrowLeft,
  bolt: Zap,
  batches: Layers,
  bell: Webhook,
  cancelled: Ban,
  check: Check,
  clock: Clock,
  close: X,
  copy: Copy,
  data: Database,
  down: ChevronDown,
  download: Download,
  error: OctagonX,
  flag: Flag,
  gauge: Gauge,
  inbox: Inbox,
  info: Info,
  key: KeyRound,
  minus: Minus,
  moon: Moon,
  more: Ellipsis,
  ok: CircleCheck,
  pause: Pause,
  play: Play,
  plug: Plug,
  plus: Plus,
  progress: Clock3,
  requests: Text,
  again: RotateCw,
  scenarios: BookMarked,
  schedule: CalendarClock,
  search: Search,
  settings: Settings,
  step: StepForward,
  sun: Sun,
  timeline: ListTree,
  trash: Trash2,
  unplug: Unplug,
  warn: TriangleAlert,
} as const

export type IconName = keyof typeof icons

/** An icon next to a text with the same meaning: 16 px, 14 inside buttons, 12 inside tags. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      stroke-width={36 / size}
      aria-hidden="true"
    >
      {icons[name].map(([tag, attributes]) => h(tag, { ...attributes }))}
    </svg>
  )
}
