import type { ComponentType } from 'preact'
import { humanName } from './format.ts'
import type { IconName } from './icon.tsx'

/** A view of the dashboard, loaded when it is first opened. */
export type View = (typeof views)[number]

interface Declared {
  readonly icon: IconName
  readonly group: 'Observe' | 'Control' | 'Set up'
  /** The key that opens the view, after `g`. */
  readonly key: string
  readonly load: () => Promise<{ readonly default: ComponentType }>
}

const VIEWS: Readonly<Record<string, Declared>> = {
  overview: { icon: 'overview', group: 'Observe', key: 'h', load: () => import('./views/overview.tsx') },
  timeline: { icon: 'timeline', group: 'Observe', key: 't', load: () => import('./views/timeline.tsx') },
  requests: { icon: 'requests', group: 'Observe', key: 'r', load: () => import('./views/requests.tsx') },
  batches: { icon: 'batches', group: 'Observe', key: 'b', load: () => import('./views/batches.tsx') },
  faults: { icon: 'bolt', group: 'Control', key: 'f', load: () => import('./views/faults.tsx') },
  limits: { icon: 'gauge', group: 'Control', key: 'l', load: () => import('./views/limits.tsx') },
  data: { icon: 'data', group: 'Control', key: 'd', load: () => import('./views/data.tsx') },
  webhooks: { icon: 'bell', group: 'Observe', key: 'w', load: () => import('./views/webhooks.tsx') },
  conduct: { icon: 'flag', group: 'Observe', key: 'o', load: () => import('./views/conduct.tsx') },
  coverage: { icon: 'ok', group: 'Observe', key: 'v', load: () => import('./views/coverage.tsx') },
  scenarios: { icon: 'scenarios', group: 'Control', key: 's', load: () => import('./views/scenarios.tsx') },
  sandboxes: { icon: 'sandboxes', group: 'Set up', key: 'x', load: () => import('./views/sandboxes.tsx') },
  settings: { icon: 'settings', group: 'Set up', key: 'e', load: () => import('./views/settings.tsx') },
  connect: { icon: 'plug', group: 'Set up', key: 'c', load: () => import('./views/connect.tsx') },
}

export const views = Object.entries(VIEWS).map(([name, declared]) => ({
  name,
  title: humanName(name),
  ...declared,
}))

export const viewNamed = (name: string) => views.find((view) => view.name === name)
