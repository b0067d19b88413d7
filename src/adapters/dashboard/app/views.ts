import type { ComponentType } from 'preact'
import type { IconName } from './icon.tsx'

/** A view of the dashboard, loaded when it is first opened. */
export interface View {
  readonly name: string
  readonly title: string
  readonly icon: IconName
  readonly group: 'Observe' | 'Control' | 'Set up'
  /** The key that opens the view, after `g`. */
  readonly key: string
  readonly load: () => Promise<{ readonly default: ComponentType }>
}

export const views: readonly View[] = [
  {
    name: 'timeline',
    title: 'Timeline',
    icon: 'timeline',
    group: 'Observe',
    key: 't',
    load: () => import('./views/timeline.tsx'),
  },
  {
    name: 'requests',
    title: 'Requests',
    icon: 'requests',
    group: 'Observe',
    key: 'r',
    load: () => import('./views/requests.tsx'),
  },
  {
    name: 'batches',
    title: 'Batches',
    icon: 'batches',
    group: 'Observe',
    key: 'b',
    load: () => import('./views/batches.tsx'),
  },
  {
    name: 'faults',
    title: 'Faults',
    icon: 'bolt',
    group: 'Control',
    key: 'f',
    load: () => import('./views/faults.tsx'),
  },
  {
    name: 'limits',
    title: 'Limits',
    icon: 'gauge',
    group: 'Control',
    key: 'l',
    load: () => import('./views/limits.tsx'),
  },
  {
    name: 'data',
    title: 'Data',
    icon: 'data',
    group: 'Control',
    key: 'd',
    load: () => import('./views/data.tsx'),
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    icon: 'bell',
    group: 'Observe',
    key: 'w',
    load: () => import('./views/webhooks.tsx'),
  },
  {
    name: 'scenarios',
    title: 'Scenarios',
    icon: 'scenarios',
    group: 'Control',
    key: 's',
    load: () => import('./views/scenarios.tsx'),
  },
  {
    name: 'settings',
    title: 'Settings',
    icon: 'settings',
    group: 'Set up',
    key: 'e',
    load: () => import('./views/settings.tsx'),
  },
  {
    name: 'connect',
    title: 'Connect',
    icon: 'plug',
    group: 'Set up',
    key: 'c',
    load: () => import('./views/connect.tsx'),
  },
]

export const viewNamed = (name: string): View | undefined => views.find((view) => view.name === name)
