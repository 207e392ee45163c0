import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createApp } from './app'
import './styles/index.css'
import './theme'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element with the id "root"')
const { app, router } = createApp()
// The code of the page comes while the server is asked who this is. Whether it cannot be loaded, the router tells.
for (const { routeId } of router.matchRoutes(router.latestLocation))
  router.loadRouteChunk(router.routesById[routeId as keyof typeof router.routesById])?.catch(() => {})
createRoot(root).render(<StrictMode>{app}</StrictMode>)
