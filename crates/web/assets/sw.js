// The service worker: shows the page while the daemon is away, from the files of this build, and leads from a
// notification to its card. It keeps those files and nothing else: neither `/` nor what the daemon says.

const KEPT = "rookery-__BUILD__";
const ASSETS = "/a/__BUILD__/";
/** The page of this build, which never changes. */
const PAGE = `${ASSETS}index.html`;

/** Names of all files of this build. */
const NAMES = ["__KEPT__"];

self.addEventListener("install", (event) => {
  event.waitUntil(fetchAll().then(() => self.skipWaiting()));
});

// Everything, so that already the next start needs no daemon. What is not there in time is fetched when it is used.
async function fetchAll() {
  const kept = await caches.open(KEPT);
  await kept.addAll([PAGE, ...NAMES.map((name) => ASSETS + name)]).catch(() => {});
}

self.addEventListener("activate", (event) => {
  event.waitUntil(begin());
});

async function begin() {
  for (const name of await caches.keys()) if (name.startsWith("rookery-") && name !== KEPT) await caches.delete(name);
  await self.clients.claim();
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (url.pathname.startsWith(ASSETS)) event.respondWith(asset(request));
  else if (url.pathname === "/" && request.mode === "navigate") event.respondWith(page(request));
});

// What has the build in its address never changes.
async function asset(request) {
  const kept = await caches.open(KEPT);
  const known = await kept.match(request);
  if (known) return known;
  const fresh = await fetch(request);
  if (fresh.ok) await kept.put(request, fresh.clone());
  return fresh;
}

// The newest page, or that of this build if there is no daemon.
async function page(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.open(KEPT);
    const known = await kept.match(PAGE);
    if (known) return known;
    throw error;
  }
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.place ?? { page: "inbox" }));
});

async function open(place) {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const known = pages.find((page) => new URL(page.url).pathname === "/");
  if (!known) return self.clients.openWindow(`/#go=${encodeURIComponent(JSON.stringify(place))}`);
  known.postMessage({ go: place });
  return known.focus();
}
