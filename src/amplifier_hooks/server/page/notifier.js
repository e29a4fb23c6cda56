// The service worker: opens the approval that a notification is about. It keeps nothing and sees no
// request of the page.

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

/** A window of ours that shows this path. */
async function open(path) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!windows.length) return self.clients.openWindow(path);
  windows[0].postMessage({ type: "open", path });
  return windows[0].focus();
}
