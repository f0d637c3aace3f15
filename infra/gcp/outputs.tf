output "functions" {
  description = "Address of each function; it is also the audience of ID tokens. Empty while there is only data."
  value       = { for name in keys(local.called) : name => { url = google_cloudfunctions2_function.this[name].service_config[0].uri } }
}

output "region" {
  description = "Region of the functions."
  value       = var.region
}

output "keys" {
  description = "Secret with the app keys of each role; the newest version counts."
  value       = { for role, secret in google_secret_manager_secret.keys : role => secret.secret_id }
}

output "deployers" {
  description = "Who deployed when this was applied, or was named for it."
  value       = var.deployers
}
