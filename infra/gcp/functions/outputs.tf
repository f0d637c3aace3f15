output "functions" {
  value = {
    for name in keys(local.called) : name => { url = google_cloudfunctions2_function.this[name].service_config[0].uri }
  }
}

output "keys" {
  value = {
    for role, version in google_secret_manager_secret_version.keys : role => {
      secret  = google_secret_manager_secret.keys[role].secret_id
      version = version.version
    }
  }
}
