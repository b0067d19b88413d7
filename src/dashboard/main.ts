import { kept } from './browser.ts'

document.documentElement.dataset.theme = kept('theme') ?? 'system'
requestAnimationFrame(() => setTimeout(() => import('./app.tsx'))) // after the frame in the HTML is drawn
